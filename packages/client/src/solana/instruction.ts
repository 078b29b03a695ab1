/** One call of a program. `data` encodes amounts and memos as the program defines. */
export interface Instruction {
  readonly program: string
  readonly accounts: readonly AccountUse[]
  readonly data: Uint8Array
}

/** An account of an instruction, with the access that it needs. */
export interface AccountUse {
  readonly address: string
  readonly signs: boolean
  readonly writable: boolean
}
