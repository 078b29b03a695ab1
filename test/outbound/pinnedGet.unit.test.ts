import { expect, test } from 'vitest'
import { webRules } from '../../src/outbound/egressRules.ts'
import { createPinnedGet } from '../../src/outbound/pinnedGet.ts'

test('an origin that the operator chose may have any port, and every other origin a port of the web', async () => {
  const asked: string[] = []
  const resolve = (hostname: string) => Promise.resolve(asked.push(hostname) > 0 ? [] : [])
  const get = createPinnedGet({ ...webRules([]), resolve })
  const request = { url: new URL('http://feeds.example:8080/rss.xml'), headers: {}, signal: AbortSignal.timeout(5_000) }
  await expect(get({ ...request, isChosen: true })).rejects.toThrow('the name has no address')
  expect(asked).toEqual(['feeds.example'])
  expect(await get({ ...request, isChosen: false })).toMatchObject({ kind: 'forbidden' })
  expect(asked, 'a forbidden port is refused before its name is looked up').toHaveLength(1)
})
