/** Commitment at which payments are accepted. */
export type Commitment = 'confirmed' | 'finalized'
