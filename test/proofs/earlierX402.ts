import { createKeyPairSignerFromBytes } from '@solana/kit'
import type { Keypair } from '@solana/web3.js'
import axios, { isAxiosError } from 'axios'
import { wrapAxiosWithPayment, x402Client as AxiosClient } from '@x402/axios'
import { wrapFetchWithPayment, x402Client as FetchClient } from 'x402-fetch-2.10'
import { ExactSvmScheme } from 'x402-svm-2.10/exact/client'

/* Stock clients of x402 before its spend controls: they pay in any token without an option. */

const devnet = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'

async function schemeOf({ secretKey }: Keypair, rpcUrl: string): Promise<ExactSvmScheme> {
  return new ExactSvmScheme(await createKeyPairSignerFromBytes(secretKey), { rpcUrl })
}

export async function earlierFetch(wallet: Keypair, rpcUrl: string): Promise<typeof fetch> {
  return wrapFetchWithPayment(fetch, new FetchClient().register(devnet, await schemeOf(wallet, rpcUrl)))
}

/** The client for axios, called as fetch is. */
export async function earlierAxios(wallet: Keypair, rpcUrl: string): Promise<typeof fetch> {
  const client = new AxiosClient().register(devnet, await schemeOf(wallet, rpcUrl))
  const paying = wrapAxiosWithPayment(axios.create({ responseType: 'text', proxy: false }), client)
  return async (input, init = {}) => {
    const { method = 'GET', headers, body } = init
    const order = {
      url: input instanceof Request ? input.url : input.toString(),
      method,
      headers: Object.fromEntries(new Headers(headers)),
      data: body,
    }
    const {
      status,
      data,
      headers: received,
    } = await paying.request<string>(order).catch((error: unknown) => {
      if (isAxiosError<string>(error) && error.response !== undefined) return error.response
      throw error
    })
    const pairs = Object.entries(received).map(([name, value]): [string, string] => [name, String(value)])
    return new Response(data, { status, headers: pairs })
  }
}
