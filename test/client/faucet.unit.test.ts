import { expect, test } from 'vitest'
import { fundWallet } from '@tollbook/client/faucet'

const request = { address: '11111111111111111111111111111111', tokens: '1', sol: '1' }

/** Tells a refusal from a question to the node, which does not answer. */
async function outcomeOf(rpcUrl: string): Promise<string> {
  const fetch = () => Promise.reject(new TypeError('no node here'))
  const options = { rpcUrl, fetch, mint: request.address, mintAuthority: new Uint8Array(64) }
  const answer = await fundWallet(options, request).catch(() => 'asked')
  return typeof answer === 'string' ? answer : 'refused'
}

test('the faucet works with a chain on this machine, in a container too, and with no other', async () => {
  for (const url of ['http://127.0.0.1:8899', 'http://[::1]:8899', 'http://chain:8899'])
    expect([url, await outcomeOf(url)]).toEqual([url, 'asked'])
  // Numbers without a dot are addresses, which the URL parser spells out.
  for (const url of ['https://node.example', 'http://10.0.0.7', 'http://167772167', 'http://[fd00::1]:8899', 'chain'])
    expect([url, await outcomeOf(url)]).toEqual([url, 'refused'])
})
