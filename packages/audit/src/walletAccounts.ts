import type { ChainNode } from './chainNode.ts'
import type { PaidAccount } from './landedPayment.ts'
import { associatedTokenAccount } from './tokenAccountAddress.ts'

/** Finds the associated token accounts of payment wallets. Payments to other accounts do not count. */
export class WalletAccounts {
  readonly #node: ChainNode
  readonly #tokenPrograms = new Map<string, Promise<string>>()
  /** Cache of derived addresses by mint and wallet, because the derivation is slow. */
  readonly #tokenAccounts = new Map<string, string>()

  constructor(node: ChainNode) {
    this.#node = node
  }

  async of(mint: string, wallets: readonly string[]): Promise<readonly PaidAccount[]> {
    const tokenProgram = await this.#tokenProgramOf(mint)
    return wallets.map((wallet) => {
      const key = `${mint} ${wallet}`
      const known = this.#tokenAccounts.get(key) ?? associatedTokenAccount({ wallet, tokenProgram, mint })
      this.#tokenAccounts.set(key, known)
      return { wallet, tokenAccount: known }
    })
  }

  #tokenProgramOf(mint: string): Promise<string> {
    const known = this.#tokenPrograms.get(mint) ?? this.#node.tokenProgramOf(mint)
    this.#tokenPrograms.set(mint, known)
    return known
  }
}
