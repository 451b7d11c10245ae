"""The second opinion: plan folders and bounds recomputed by code that shares nothing with the methods.

How limits are counted is the crowd's own (crowdopt.crowd.vote_errors), which no method uses to make a plan.
"""
