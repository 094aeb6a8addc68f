"""Games for students. No other package needs them; they are imported when they are played.

breaking  `grade break`: a fault planted in the student's own solution
faults    the faults that suit a solution
catching  `grade catch`: the student's own check against known answers
drilling  `grade drill`: short questions whose answers come from running lines
tracing   `grade trace`: what an exercise does on the simulated accelerator
"""
