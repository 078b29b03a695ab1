import { rename, rm, writeFile } from 'node:fs/promises'
import { Connection } from '@solana/web3.js'
import { systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { openHome } from './home.ts'
import { provisionFromHome } from './provisionChain.ts'

export interface ServiceProvision {
  /** Keeps all keys, those of the wallets too; the service never sees it. */
  readonly home: string
  readonly rpcUrl: string
  /** Public address of the service, for `local.json`. */
  readonly baseUrl: string
  /** Variables that the service needs and no more, for `node --env-file`. */
  readonly envFile: string
}

// A chain that was told to start a moment ago answers within a second; on a crowded machine within ten.
const attemptsMax = 60
const pauseMs = 1_000
// The file holds the private receipt key.
const privateFile = 0o600

/**
 * Provisions what local mode provisions in its own process, for services that start elsewhere: several, in containers.
 */
export async function provisionService(options: ServiceProvision): Promise<void> {
  const { baseUrl, envFile, rpcUrl } = options
  const home = await openHome(options.home)
  await untilChainAnswers(rpcUrl)
  const { chain, facts } = await provisionFromHome(home, rpcUrl)
  const receiptKey = await home.receiptKey()
  await writeVariables(envFile, {
    SOLANA_RPC_URLS: chain.rpcUrls.join(','),
    TOKEN_MINT: chain.tokenMint,
    PAYMENT_WALLET: chain.paymentWallet,
    RECEIPT_SIGNING_KEY: JSON.stringify(receiptKey),
  })
  const { d: _private, ...publicKey } = receiptKey
  const { tokenMint, paymentWallet } = chain
  await home.writeLocalJson({ baseUrl, ...facts, tokenMint, paymentWallet, receiptKey: publicKey })
}

/** So that a service which got a chain of its own does not go on with the receipt key of a demonstration. */
export async function withdrawProvision(envFile: string): Promise<void> {
  await rm(envFile, { force: true })
}

async function untilChainAnswers(rpcUrl: string): Promise<void> {
  const connection = new Connection(rpcUrl, { disableRetryOnRateLimit: true })
  for (let attempt = 1; ; attempt++) {
    try {
      await connection.getSlot('processed')
      return
    } catch (error) {
      if (attempt === attemptsMax)
        throw new Fault(`no chain answers at ${rpcUrl}; start one, or set SOLANA_RPC_URLS`, {
          cause: error,
          retryable: true,
        })
      await systemClock.sleep(pauseMs)
    }
  }
}

async function writeVariables(file: string, variables: Readonly<Record<string, string>>): Promise<void> {
  // In single quotes, because the receipt key is JSON; no value has one in it.
  const lines = Object.entries(variables).map(([name, value]) => `${name}='${value}'\n`)
  await writeFile(`${file}.tmp`, lines.join(''), { mode: privateFile })
  await rename(`${file}.tmp`, file)
}
