/** A fork can still undo a `confirmed` block, but not a `finalized` one. */
export type Commitment = 'confirmed' | 'finalized'
