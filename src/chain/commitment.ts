/** Commitment level at which payments are accepted. */
export type Commitment = 'confirmed' | 'finalized'
