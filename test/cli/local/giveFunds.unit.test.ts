import { expect, test } from 'vitest'
import { isOnThisMachine } from '../../../src/cli/local/giveFunds.ts'

test('the faucet works with a chain on this machine, in a container too, and with no other', () => {
  for (const url of ['http://127.0.0.1:8899', 'http://[::1]:8899', 'http://chain:8899'])
    expect([url, isOnThisMachine(url)]).toEqual([url, true])
  // Numbers without a dot are addresses, which the URL parser spells out.
  for (const url of ['https://node.example', 'http://10.0.0.7', 'http://167772167', 'http://[fd00::1]:8899', 'chain'])
    expect([url, isOnThisMachine(url)]).toEqual([url, false])
})
