/** An error without fields is its name in the Solana SDK, which libraries compare. */
type InstructionError = string | { readonly Custom: number } | { readonly BorshIoError: string }

// An alias and not an interface, which TypeScript would not accept as JSON.
type AccountIndex = { readonly account_index: number }

/** The error in a node's JSON: a name, or a name with its value. */
export type TransactionError =
  | string
  | { readonly InstructionError: readonly [number, InstructionError] }
  | { readonly DuplicateInstruction: number }
  | { readonly InsufficientFundsForRent: AccountIndex }
  | { readonly ProgramExecutionTemporarilyRestricted: AccountIndex }

/** The sentence for a node's error messages. Clients show it to people, and some search for it. */
export function describeTransactionError(error: TransactionError): string {
  if (typeof error === 'string') return sentences.get(error) ?? capitalized(wordsOf(error))
  if ('InstructionError' in error) {
    const [index, inner] = error.InstructionError
    return `Error processing Instruction ${index}: ${describeInstructionError(inner)}`
  }
  if ('DuplicateInstruction' in error) {
    return `Transaction contains a duplicate instruction (${error.DuplicateInstruction}) that is not allowed`
  }
  if ('InsufficientFundsForRent' in error) {
    return `Transaction results in an account (${error.InsufficientFundsForRent.account_index}) with insufficient funds for rent`
  }
  const account = error.ProgramExecutionTemporarilyRestricted.account_index
  return `Execution of the program referenced by account at index ${account} is temporarily restricted.`
}

function describeInstructionError(error: InstructionError): string {
  if (typeof error === 'string') return wordsOf(error)
  if ('Custom' in error) return `custom program error: 0x${error.Custom.toString(16)}`
  return `Failed to serialize or deserialize account data: ${error.BorshIoError}`
}

/** Sentences of the Solana SDK that say more than the name: those of errors that a client meets often. */
const sentences: ReadonlyMap<string, string> = new Map([
  ['AccountNotFound', 'Attempt to debit an account but found no record of a prior credit.'],
  ['ProgramAccountNotFound', 'Attempt to load a program that does not exist'],
  ['AlreadyProcessed', 'This transaction has already been processed'],
  ['AddressLookupTableNotFound', "Transaction loads an address table account that doesn't exist"],
  ['InvalidAddressLookupTableOwner', 'Transaction loads an address table account with an invalid owner'],
  ['InvalidAddressLookupTableData', 'Transaction loads an address table account with invalid data'],
  ['InvalidAddressLookupTableIndex', 'Transaction address table lookup uses an invalid index'],
])

/** `BlockhashNotFound` as `blockhash not found`, which is the SDK's sentence for most names. */
function wordsOf(name: string): string {
  return name.replaceAll(/(?<!^)(?=[A-Z])/g, ' ').toLowerCase()
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
