import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { readBase64 } from '@tollbook/core/base64'
import { utf8Bytes } from '@tollbook/core/bytes'
import { InvalidOption, PayerFault } from '../errorCode.ts'
import type { Payer } from '../payer.ts'
import { requireSecureUrl } from '../secureUrl.ts'
import { readSecretKey } from '../solana/keypair.ts'
import type { Pay } from './buyDeposit.ts'
import { findTab } from './openTab.ts'
import { askAboutTab, askForChallenge, balanceText, readAnswer, readTab } from './readTab.ts'

/** State of a tab. Amounts are base units of the mint. */
export interface TabState {
  readonly tab: string
  readonly mint: string
  readonly state: string
  readonly balanceBaseUnits: string
  readonly endsAt: string
}

/** Functions that manage tabs. Each takes the URL of the service. */
export interface PayingTabs {
  /** Returns the open tab, or buys one. Throws if the limits or the offer do not permit the deposit. */
  open(service: string | URL, options?: TabCall): Promise<TabState>
  /** Returns the state of the tab. Undefined if this store has no tab at the service. */
  status(service: string | URL, options?: TabCall): Promise<TabState | undefined>
  /**
   * Closes the tab. The service then owes the unspent balance to the wallet. Undefined if this store has no tab at the
   * service.
   */
  close(service: string | URL, options?: TabCall): Promise<ClosedTab | undefined>
}

export interface TabCall {
  readonly signal?: AbortSignal
}

export interface ClosedTab {
  readonly tab: string
  readonly restBaseUnits: string
}

export function createPayingTabs(payer: Payer, pay: Pay): PayingTabs {
  const status = async (service: string, signal: AbortSignal): Promise<TabState | undefined> => {
    const record = await payer.tabs.read(service)
    if (record?.opened === undefined) return undefined
    const { tab } = record.opened
    const { mint, state, balanceBaseUnits, endsAt } = await readTab(payer, { service, tab, signal })
    return { tab, mint, state, balanceBaseUnits, endsAt }
  }
  return {
    async open(url, { signal = new AbortController().signal } = {}) {
      const { tab } = payer
      if (tab === undefined || tab.depositUsd === 0)
        throw new InvalidOption('give the option tab with its depositUsd to open a tab')
      const service = serviceOf(url)
      await findTab(payer, { service, option: tab, signal, pay, isRequired: true })
      const opened = await status(service, signal)
      if (opened !== undefined) return opened
      throw new PayerFault('SERVICE_UNAVAILABLE', `${service} sells no tabs now`, { retryable: false })
    },
    status: (url, { signal = new AbortController().signal } = {}) => status(serviceOf(url), signal),
    close(url, { signal = new AbortController().signal } = {}) {
      const service = serviceOf(url)
      return payer.tabs.exclusively(service, signal, () => closeTab(payer, service, signal))
    },
  }
}

function serviceOf(url: string | URL): string {
  const { origin, pathname } = requireSecureUrl(url)
  return origin + pathname.replace(/\/+$/, '')
}

const closedBody = z.object({ data: z.object({ restBaseUnits: balanceText }) })

/**
 * Closes the tab with a signature of the session key. The unspent balance always goes to the wallet of the deposit,
 * never to the session key.
 */
async function closeTab(payer: Payer, service: string, signal: AbortSignal): Promise<ClosedTab | undefined> {
  const record = await payer.tabs.read(service)
  if (record?.opened === undefined) return undefined
  const { tab, origin } = record.opened
  const { challenge, expiresAt } = await askForChallenge(payer, { service, tab, signal })
  // Refuse to sign any text except the closing of this tab.
  if (challenge !== `${origin} asks: close the tab ${tab} until ${expiresAt}`)
    throw new PayerFault('SERVICE_UNAVAILABLE', 'the service asks for another signature', { retryable: false })
  const key = readSecretKey(assertPresent(readBase64(record.secretKey), 'a record holds base64'))
  const signature = encodeBase58(key.sign(utf8Bytes(challenge)))
  const headers = { authorization: `Wallet ${key.address}.${expiresAt}.${signature}` }
  const answer = await askAboutTab(payer, { service, tab, signal }, { method: 'DELETE', headers })
  const { restBaseUnits } = readAnswer(service, closedBody, answer).data
  await payer.tabs.forget(service)
  return { tab, restBaseUnits }
}
