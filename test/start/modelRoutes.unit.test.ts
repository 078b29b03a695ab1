import { expect, test } from 'vitest'
import type { Endpoint, Supplier } from '../../src/product/endpoint.ts'
import { chatCompletions } from '../../src/products/chat/chatCompletions.ts'
import { modelRoutesOf } from '../../src/start/goods/openChat.ts'

type Sources = Parameters<typeof modelRoutesOf>[1]

/** The routes read only the models of a server, and who supplies the chat. */
const serversOf = (model: string) => ({ chatServers: [{ models: [model] }] }) as unknown as Sources['provided']
const chat = { path: chatCompletions.path, suppliedBy: () => supplier } as unknown as Endpoint
let supplier: Supplier = 'providers'

test('the list has the models of those who supply the chat now: the providers, or the samples in their place', async () => {
  const [list] = modelRoutesOf([chat], { provided: serversOf('real'), sampled: serversOf('sample') })
  const models = async () => {
    const request = { segment: '', query: '', address: '', host: '', requestId: '', header: () => undefined }
    const limits = { limitQuotes: () => undefined, limitLookups: () => undefined }
    const answer = await list?.serve({ ...request, limits })
    const { data } = JSON.parse(typeof answer?.body === 'string' ? answer.body : '{}')
    return data.map(({ id }: { readonly id: string }) => id)
  }
  expect(await models()).toEqual(['real'])
  supplier = 'samples'
  expect(await models()).toEqual(['sample'])
  supplier = 'none'
  expect(await models()).toEqual(['real'])
})

test('without the chat in this format there is no list', () => {
  const sources = { provided: serversOf('real'), sampled: undefined }
  expect(modelRoutesOf([{ ...chat, path: '/api/other' }], sources)).toEqual([])
})
