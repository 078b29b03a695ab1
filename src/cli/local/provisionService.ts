import { rename, rm, writeFile } from 'node:fs/promises'
import { Connection } from '@solana/web3.js'
import { systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { openHome } from './home.ts'
import { provisionFromHome } from './provisionChain.ts'

export interface ServiceProvision {
  /** Folder with all keys, including the keys of the wallets. The service never reads this folder. */
  readonly home: string
  readonly rpcUrl: string
  readonly baseUrl: string
  /** File for `node --env-file`, with only the variables that the service needs. */
  readonly envFile: string
}

// Number of tries to reach the chain, one second apart. A chain that was just started answers within one second, or
// within ten on a machine under load, so a minute suffices.
const triesMax = 60
const pauseMs = 1_000
// Only this user may read the file, because it contains the private receipt key.
const privateFile = 0o600

export async function provisionService(options: ServiceProvision): Promise<void> {
  const { baseUrl, envFile, rpcUrl } = options
  const home = await openHome(options.home)
  await untilChainAnswers(rpcUrl)
  const { chain, tabWallet, facts } = await provisionFromHome(home, rpcUrl)
  const receiptKey = await home.receiptKey()
  await writeVariables(envFile, {
    SOLANA_RPC_URLS: chain.rpcUrls.join(','),
    TOKEN_MINT: chain.tokenMint,
    PAYMENT_WALLET: chain.paymentWallet,
    TAB_WALLET: tabWallet,
    RECEIPT_SIGNING_KEY: JSON.stringify(receiptKey),
  })
  const { d: _private, ...publicKey } = receiptKey
  const { tokenMint, paymentWallet } = chain
  await home.writeLocalJson({ baseUrl, ...facts, tokenMint, paymentWallet, receiptKey: publicKey })
}

/**
 * Removes the file of variables. A service that now has its own chain must not continue with the receipt key of a
 * demonstration.
 */
export async function withdrawProvision(envFile: string): Promise<void> {
  await rm(envFile, { force: true })
}

async function untilChainAnswers(rpcUrl: string): Promise<void> {
  // The loop below repeats the request, so the library must not repeat it too.
  const connection = new Connection(rpcUrl, { disableRetryOnRateLimit: true })
  for (let tries = 1; ; tries++) {
    try {
      await connection.getSlot('processed')
      return
    } catch (error) {
      if (tries === triesMax)
        throw new Fault(`no chain answers at ${rpcUrl}; start one, or set SOLANA_RPC_URLS`, {
          cause: error,
          retryable: true,
        })
      await systemClock.sleep(pauseMs)
    }
  }
}

async function writeVariables(file: string, variables: Readonly<Record<string, string>>): Promise<void> {
  // Use single quotes, because the receipt key is JSON. No value contains a single quote.
  const lines = Object.entries(variables).map(([name, value]) => `${name}='${value}'\n`)
  // Rename at the end, so that a service that starts meanwhile never reads an incomplete file.
  await writeFile(`${file}.tmp`, lines.join(''), { mode: privateFile })
  await rename(`${file}.tmp`, file)
}
