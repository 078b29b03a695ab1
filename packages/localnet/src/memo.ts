import { type ResolvedTransaction, keyAt } from './accountKeys.ts'
import { memoText } from './parsedInstruction.ts'
import { programNameOf } from './programs.ts'

/** All memos of a transaction in one line, each prefixed with its length, as nodes list them next to a signature. */
export function transactionMemo({ message, keys }: ResolvedTransaction): string | undefined {
  const memos: string[] = []
  for (const { programIndex, data } of message.instructions) {
    const program = programNameOf(keyAt(keys, programIndex).address)
    if (program !== 'memo' && program !== 'memoV1') continue
    memos.push(`[${data.length}] ${memoText(data) ?? '(unparseable)'}`)
  }
  return memos.length === 0 ? undefined : memos.join('; ')
}
