"""Plans under limits of groups, where tasks are of few kinds: sets of labels priced by a grouped knapsack."""
