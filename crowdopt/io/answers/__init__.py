"""What came back: labels, answers, their audit, and the campaign that goes on from them."""
