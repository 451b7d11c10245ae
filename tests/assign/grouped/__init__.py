"""Plans under limits of groups, by sets of labels."""
