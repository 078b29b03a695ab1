/** At which payments are accepted. */
export type Commitment = 'confirmed' | 'finalized'
