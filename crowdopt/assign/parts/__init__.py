"""Tasks in parts: prices travel, tasks stay where they are."""
