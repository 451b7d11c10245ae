"""What an assignment instance states: its people, its tasks, the law of labels, the limits of a plan."""
