/** The addresses are the same on every network. */
export const splTokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
export const token2022Program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
export const tokenPrograms: ReadonlySet<string> = new Set([splTokenProgram, token2022Program])

/** The current memo program. `memoPrograms` also has version 1, because it still runs. */
export const memoProgram = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
export const memoPrograms: ReadonlySet<string> = new Set([memoProgram, 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'])

export const computeBudgetProgram = 'ComputeBudget111111111111111111111111111111'
export const systemProgram = '11111111111111111111111111111111'
export const associatedTokenProgram = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
