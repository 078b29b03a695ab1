/** One call of a program. Amounts and memos are in `data`, as the program defines it. */
export interface Instruction {
  readonly program: string
  readonly accounts: readonly AccountUse[]
  readonly data: Uint8Array
}

/** An account of an instruction and the rights that it needs. */
export interface AccountUse {
  readonly address: string
  readonly signs: boolean
  readonly writable: boolean
}
