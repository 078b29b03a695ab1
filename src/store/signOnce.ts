import { LedgerDamage } from '@tollbook/core/ledgerDamage'
import { equalBytes } from '@tollbook/core/bytes'
import type { TreeHead } from '@tollbook/core/merkle'

/**
 * Refuses a smaller tree, or another root of the same size, because two signed roots of one size could prove two
 * histories.
 */
export function signOnce(sign: (tree: TreeHead) => string): (tree: TreeHead) => string {
  let signed: TreeHead | undefined
  return (tree) => {
    const isRepeated = signed !== undefined && tree.size === signed.size && equalBytes(tree.root, signed.root)
    if (signed !== undefined && tree.size <= signed.size && !isRepeated)
      throw new LedgerDamage(`a root of ${tree.size} events was to be signed after one of ${signed.size} events`)
    signed = { size: tree.size, root: tree.root }
    return sign(tree)
  }
}
