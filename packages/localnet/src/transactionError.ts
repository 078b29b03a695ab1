/** An error without fields is a string: its name in the Solana SDK. */
type InstructionError = string | { readonly Custom: number } | { readonly BorshIoError: string }

// Use a type alias, because TypeScript does not accept an interface as JSON.
type AccountIndex = { readonly account_index: number }

/** Error of a transaction in the JSON of a node: a name, or an object with a name and its value. */
export type TransactionError =
  | string
  | { readonly InstructionError: readonly [number, InstructionError] }
  | { readonly DuplicateInstruction: number }
  | { readonly InsufficientFundsForRent: AccountIndex }
  | { readonly ProgramExecutionTemporarilyRestricted: AccountIndex }

/** Uses the sentences of nodes, because clients show them to people, and some clients search for them. */
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
  if (typeof error === 'string') return instructionSentences.get(error) ?? wordsOf(error)
  if ('Custom' in error) return `custom program error: 0x${error.Custom.toString(16)}`
  return `Failed to serialize or deserialize account data: ${error.BorshIoError}`
}

/** Sentences of the Solana SDK that contain more than the error's name, for errors that clients meet often. */
const sentences: ReadonlyMap<string, string> = new Map([
  ['AccountNotFound', 'Attempt to debit an account but found no record of a prior credit.'],
  ['ProgramAccountNotFound', 'Attempt to load a program that does not exist'],
  ['InvalidAccountForFee', 'This account may not be used to pay transaction fees'],
  ['InvalidProgramForExecution', 'This program may not be used for executing instructions'],
  ['AlreadyProcessed', 'This transaction has already been processed'],
  ['AddressLookupTableNotFound', "Transaction loads an address table account that doesn't exist"],
  ['InvalidAddressLookupTableOwner', 'Transaction loads an address table account with an invalid owner'],
  ['InvalidAddressLookupTableData', 'Transaction loads an address table account with invalid data'],
  ['InvalidAddressLookupTableIndex', 'Transaction address table lookup uses an invalid index'],
])

/** The same for errors of instructions. The runtime writes these sentences into the logs too. */
const instructionSentences: ReadonlyMap<string, string> = new Map([
  ['AccountAlreadyInitialized', 'instruction requires an uninitialized account'],
  ['AccountDataTooSmall', 'account data too small for instruction'],
  ['ComputationalBudgetExceeded', 'Computational budget exceeded'],
  ['ExternalAccountLamportSpend', 'instruction spent from the balance of an account it does not own'],
  ['IncorrectProgramId', 'incorrect program id for instruction'],
  ['InsufficientFunds', 'insufficient funds for instruction'],
  ['InvalidAccountData', 'invalid account data for instruction'],
  ['InvalidArgument', 'invalid program argument'],
  ['MissingRequiredSignature', 'missing required signature for instruction'],
  ['NotEnoughAccountKeys', 'insufficient account keys for instruction'],
  ['ProgramFailedToComplete', 'Program failed to complete'],
  ['UninitializedAccount', 'instruction requires an initialized account'],
])

/** Returns `BlockhashNotFound` as `blockhash not found`, which is the SDK's sentence for most errors. */
function wordsOf(name: string): string {
  return name.replaceAll(/(?<!^)(?=[A-Z])/g, ' ').toLowerCase()
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
