import { createPayingFetch, PaymentError, verifyReceipt } from '@tollbook/client'
import { readKeypairFile } from '@tollbook/client/node'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { saleBody } from '@tollbook/core/wire'
import { type DemoDeps, expectThat, tokens } from './demoDeps.ts'

export interface DemoTab {
  readonly depositBaseUnits: bigint
  readonly chargedBaseUnits: bigint
  /** Part of the prices that the service has to burn, because no debit contains a burn. */
  readonly burnOwedBaseUnits: bigint
  readonly restBaseUnits: bigint
}

const requests = 10

export async function showTab({ local, say }: DemoDeps): Promise<DemoTab> {
  const { baseUrl, tabWallet, demoWallet, rpcUrl, tokenMint } = local
  const payingFetch = createPayingFetch({
    wallet: await readKeypairFile(assertPresent(demoWallet, 'local mode has a wallet').keypairPath),
    rpcUrl,
    expectedMint: tokenMint,
    spendingLimit: { perRequest: { usd: '0.10' }, total: { usd: '1' } },
    tab: { depositUsd: 1, expectedWallet: assertPresent(tabWallet, 'local mode sells tabs') },
  })
  const keys: unknown = await (await payingFetch(new URL('/.well-known/jwks.json', baseUrl))).json()
  const buyQr = async (number: number): Promise<Pick<DemoTab, 'chargedBaseUnits' | 'burnOwedBaseUnits'>> => {
    const body = JSON.stringify({ data: `Request ${number} of a tab` })
    const headers = { 'content-type': 'application/json' }
    const answer = await payingFetch(new URL('/api/tools/qrcode', baseUrl), { method: 'POST', headers, body })
    const { receipt } = saleBody.parse(await answer.json())
    const { valid } = await verifyReceipt({ receipt, keys })
    const burnOwedBaseUnits = BigInt(receipt.burnOwed ?? 0)
    const sharesBaseUnits = Object.values(receipt.distribution).reduce((sum, share) => sum + BigInt(share), 0n)
    const chargedBaseUnits = BigInt(receipt.requiredBaseUnits)
    expectThat(
      valid && burnOwedBaseUnits + sharesBaseUnits === chargedBaseUnits,
      'the receipt of a debit is valid and adds up',
    )
    return { chargedBaseUnits, burnOwedBaseUnits }
  }
  try {
    say('7. A tab: one deposit, then requests without a transaction')
    const opened = await payingFetch.tabs.open(baseUrl)
    const depositBaseUnits = BigInt(opened.balanceBaseUnits)
    say(`   deposited ${tokens(depositBaseUnits)} tokens on the tab ${opened.tab}; none of them is burned yet`)
    // All at once, because a debit needs no transaction and does not wait for the chain.
    const sales = await Promise.all(Array.from({ length: requests }, (_, index) => buyQr(index + 1)))
    const chargedBaseUnits = sales.reduce((sum, sale) => sum + sale.chargedBaseUnits, 0n)
    const burnOwedBaseUnits = sales.reduce((sum, sale) => sum + sale.burnOwedBaseUnits, 0n)
    say(`   ${requests} QR codes at once, each by one signed debit: ${tokens(chargedBaseUnits)} tokens`)
    say(`   of which the service has to burn ${tokens(burnOwedBaseUnits)}`)
    const closed = assertPresent(await payingFetch.tabs.close(baseUrl), 'the tab was opened')
    const restBaseUnits = BigInt(closed.restBaseUnits)
    say(`   closed; the rest of ${tokens(restBaseUnits)} tokens is owed to the wallet that paid`)
    expectThat(depositBaseUnits === chargedBaseUnits + restBaseUnits, 'the deposit is what was charged and the rest')
    return { depositBaseUnits, chargedBaseUnits, burnOwedBaseUnits, restBaseUnits }
  } catch (error) {
    if (error instanceof PaymentError) throw new Fault(error.message, { cause: error, retryable: false })
    throw error
  }
}
