"""Why there is no plan and what would make one; what one more unit of anything is worth where there is one."""
