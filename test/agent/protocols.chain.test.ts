import { TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { Keypair } from '@solana/web3.js'
import { beforeAll, expect, test } from 'vitest'
import { sponsoredProtocols } from '@tollbook/client/sponsored/sponsoredOffer'
import { systemClock } from '@tollbook/core/clock'
import { connectWallet } from '@tollbook/agent/client/walletClient'
import { startWallet } from '@tollbook/agent/wallet/walletProcess'
import { giveFunds } from '../../src/cli/local/giveFunds.ts'
import { devnet, startSponsoredServer } from '../client/support/sponsoredServer.ts'
import { openTokenChain, type TokenChain } from '../client/support/tokenChain.ts'
import { openSponsoredTools, toolCall } from '../client/support/sponsoredTools.ts'
import { afterFile } from '../support/afterFile.ts'
import { makeAgentFolder, writePolicy } from './support/agentFolder.ts'
import { openWindow } from './support/mcpWindow.ts'

/* Services of x402 and MPP that are not Tollbook. Their offers state no dollars, so the owner's worth of the token counts. */

let token: TokenChain
const feePayer = Keypair.generate()

beforeAll(async () => {
  token = await openTokenChain({ program: TOKEN_PROGRAM_ID })
  const options = { rpcUrl: token.chain.rpcUrl, mint: token.mint.toBase58(), mintAuthority: token.mintAuthority }
  await giveFunds(options, { address: token.paymentWallet.toBase58(), tokens: '1', sol: '0' })
  await giveFunds(options, { address: feePayer.publicKey.toBase58(), tokens: '0', sol: '1' })
})

/** Starts the wallet of a new folder, with one window. */
async function openAgent(policy: Parameters<typeof makeAgentFolder>[1]) {
  const folder = await makeAgentFolder(token.payer.secretKey, policy)
  const started = await startWallet({ folder, report: (line) => expect(line).toBe('') })
  afterFile(started.close)
  const wallet = connectWallet(folder, systemClock)
  const { call } = await openWindow(wallet)
  return { folder, wallet, call }
}

test.each(sponsoredProtocols)(
  'a window pays a service of %s, after another mint of the policy, and the dollars count',
  async (protocol) => {
    const service = await startSponsoredServer(token, protocol, feePayer)
    const { host } = new URL(service.url)
    const policy = {
      rpcUrl: token.chain.rpcUrl,
      // The stock servers call the local chain devnet.
      network: devnet,
      hosts: { [host]: {} },
      mints: {
        [Keypair.generate().publicKey.toBase58()]: { name: 'other', usdPerToken: '1' },
        [token.mint.toBase58()]: { name: 'TOLL', usdPerToken: '0.002' },
      },
      limits: { perDayUsd: '0.04' },
    }
    const { folder, wallet, call } = await openAgent(policy)
    const url = `${service.url}/data`
    expect(JSON.parse((await call('quote', { url })).texts[0] ?? '')).toMatchObject({
      protocol,
      priceUsd: '0.04',
      token: 'TOLL',
    })
    const { isError, texts } = await call('pay_and_fetch', { url })
    expect([isError, JSON.parse(texts[0] ?? '')]).toMatchObject([false, { paid: { usd: '0.04' } }])
    const second = await call('pay_and_fetch', { url: `${url}?again` })
    expect(JSON.parse(second.texts[0] ?? '')).toMatchObject({ refused: 'LIMIT_REACHED' })
    // Base units of one mint do not count for another, and a limit of the mint holds in addition to the dollars.
    const rule = { name: 'TOLL', usdPerToken: '0.002', perDayBaseUnits: '39999999' }
    await writePolicy(folder, { ...policy, mints: { [token.mint.toBase58()]: rule }, limits: { perDayUsd: '10' } })
    expect(JSON.parse((await call('pay_and_fetch', { url: `${url}?again` })).texts[0] ?? '')).toMatchObject({
      refused: 'LIMIT_REACHED',
    })
    expect(service.payments).toHaveLength(1)
    expect(await wallet.read('/spending')).toMatchObject({ payments: 1, openPayments: 0, spentTodayUsd: '0.04' })
  },
)

test.each(sponsoredProtocols)(
  'a tool of another MCP server is paid by %s within the policy of the owner',
  async (protocol) => {
    const service = await startSponsoredServer(token, protocol, feePayer)
    const { url } = await openSponsoredTools(service.url)
    const { host } = new URL(url)
    const policy = {
      rpcUrl: token.chain.rpcUrl,
      network: devnet,
      hosts: { [host]: { payTo: feePayer.publicKey.toBase58() } },
      mints: { [token.mint.toBase58()]: { name: 'TOLL', usdPerToken: '0.002' } },
      limits: { perDayUsd: '0.04' },
    }
    const { folder, wallet, call } = await openAgent(policy)
    const pay = async (meta: object) => {
      const { texts } = await call('pay_and_fetch', { url, method: 'POST', body: toolCall(meta).body })
      return JSON.parse(texts[0] ?? '')
    }
    expect(await pay({})).toMatchObject({ refused: 'RECIPIENT_NOT_LISTED' })
    await writePolicy(folder, { ...policy, hosts: { [host]: { payTo: token.paymentWallet.toBase58() } } })
    expect(await pay({})).toMatchObject({ status: 200, paid: { usd: '0.04' } })
    expect(await pay({ another: 'call' })).toMatchObject({ refused: 'LIMIT_REACHED' })
    expect(service.payments).toHaveLength(1)
    expect(await wallet.read('/spending')).toMatchObject({ payments: 1, openPayments: 0, spentTodayUsd: '0.04' })
  },
)
