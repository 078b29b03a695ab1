import { readFile } from 'node:fs/promises'
import { TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { expect } from 'vitest'
import { readBalance } from '@tollbook/client/node'
import { systemClock } from '@tollbook/core/clock'
import { connectWallet, type WalletClient } from '@tollbook/agent/client/walletClient'
import type { WalletFolder } from '@tollbook/agent/walletFolder'
import { startWallet, type WalletProcess } from '@tollbook/agent/wallet/walletProcess'
import { giveFunds } from '../../../src/cli/local/giveFunds.ts'
import { openTokenChain, type TokenChain } from '../../client/support/tokenChain.ts'
import { afterFile } from '../../support/afterFile.ts'
import { makeAgentFolder, type PolicyFileContent } from './agentFolder.ts'
import { type MaliciousService, openMaliciousService, thief } from './maliciousService.ts'
import { openWindow, type Window } from './mcpWindow.ts'

/** A wallet whose policy lists a malicious service, and a window of it. */
export interface AttackedWallet {
  readonly token: TokenChain
  readonly service: MaliciousService
  readonly policy: PolicyFileContent
  readonly folder: WalletFolder
  readonly started: WalletProcess
  readonly wallet: WalletClient
  readonly window: Window
  /** Compares spending, balance and policy with those before the attacks. */
  readonly expectNothingPaid: () => Promise<void>
}

export async function openAttackedWallet(): Promise<AttackedWallet> {
  const token = await openTokenChain({ program: TOKEN_PROGRAM_ID })
  const network = `solana:${(await token.connection.getGenesisHash()).slice(0, 32)}`
  const [rpcUrl, mint] = [token.chain.rpcUrl, token.mint.toBase58()]
  for (const address of [thief, token.paymentWallet.toBase58()])
    await giveFunds({ rpcUrl, mint, mintAuthority: token.mintAuthority }, { address, tokens: '1', sol: '1' })
  const service = await openMaliciousService(token, network)
  const policy: PolicyFileContent = {
    rpcUrl,
    hosts: { [service.host]: { payTo: token.paymentWallet.toBase58() } },
    mints: { [mint]: { name: 'TOLL', usdPerToken: '0.001' } },
    limits: { perRequestUsd: '0.05', perDayUsd: '0.1' },
    confirmAboveUsd: '0.03',
  }
  const folder = await makeAgentFolder(token.payer.secretKey, policy)
  const started = await startWallet({ folder, report: () => undefined })
  afterFile(started.close)
  const wallet = connectWallet(folder, systemClock)
  const balance = async () =>
    (await readBalance({ rpcUrl, wallet: token.payer.publicKey.toBase58(), mint })).heldBaseUnits
  const [policyText, heldBaseUnits] = [await readFile(folder.policy, 'utf8'), await balance()]
  return {
    token,
    service,
    policy,
    folder,
    started,
    wallet,
    window: await openWindow(wallet),
    async expectNothingPaid() {
      expect(await wallet.read('/spending')).toMatchObject({ payments: 0, openPayments: 0, spentInAllUsd: '0' })
      expect(await readFile(folder.policy, 'utf8')).toBe(policyText)
      expect(await balance()).toBe(heldBaseUnits)
    },
  }
}
