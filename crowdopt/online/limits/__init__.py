"""What no policy can beat: least costs by information, by potentials over beliefs, by optimal stopping."""
