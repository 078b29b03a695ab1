import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { ask, askForQuote } from '../support/ask.ts'
import { openTestService, type TestService } from '../support/testService.ts'

/* A service under the operator's own name, which is hostile text here. */

const name = `Ac<me> "& Sons' $& </script>`
const description = 'Prices of <b>wheat</b>'
const contact = 'desk@acme.example'
const termsUrl = 'https://acme.example/terms?a=1&b="2"'
let service: TestService

beforeAll(async () => {
  service = await openTestService({
    env: {
      SERVICE_NAME: name,
      SERVICE_DESCRIPTION: description,
      SERVICE_CONTACT: contact,
      SERVICE_TERMS_URL: termsUrl,
    },
  })
})

const pageAt = async (path: string) => {
  const answer = await fetch(`${service.baseUrl}${path}`, { headers: { accept: 'text/html' } })
  return answer.text()
}

test.each(['/', '/docs', '/burn', '/pay/api/data/crypto', '/api/data/crypto'])(
  'the page at %s shows the name as text, and not ours',
  async (path) => {
    const page = await pageAt(path)
    expect(page).toContain('<strong>Ac&lt;me&gt; &quot;&amp; Sons&#39; $&amp; &lt;/script&gt;</strong>')
    expect(page).not.toMatch(/<me>|<b>wheat/)
    // The name of the software occurs in commands and headers only.
    const text = page.replaceAll(/<(style|script|pre|code)\b[\s\S]*?<\/\1>/g, '')
    expect(text).not.toContain('Tollbook')
  },
)

test('the landing page links the contact and the terms', async () => {
  const page = await pageAt('/')
  expect(page).toContain('href="mailto:desk@acme.example"')
  expect(page).toContain('href="https://acme.example/terms?a=1&amp;b=&quot;2&quot;"')
})

const shape = z.looseObject({})

test('documents for programs carry the name, the contact and the terms', async () => {
  const openApi = shape.parse((await ask(service, { path: '/openapi.json' })).body)
  expect(openApi['info']).toMatchObject({
    title: name,
    summary: description,
    contact: { email: contact },
    termsOfService: termsUrl,
  })
  expect((await ask(service, { path: '/api/catalog' })).body).toMatchObject({
    data: { service: { name, description, contact, termsUrl } },
  })
  expect((await ask(service, { path: '/.well-known/x402' })).body).toMatchObject({ service: { name } })
  const llms = await (await fetch(`${service.baseUrl}/llms.txt`)).text()
  expect(llms.split('\n').slice(0, 3)).toEqual([`# ${name}`, '', `> ${description}. No account and no API key.`])
  expect(llms).not.toContain('Tollbook')
})

test('a quote does not name the software', async () => {
  const quote = await askForQuote(service, { path: '/api/data/crypto?symbol=BTC' })
  expect(JSON.stringify(quote).replaceAll('"tollbook:', '')).not.toMatch(/tollbook/i)
})
