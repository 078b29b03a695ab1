import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  inputRequired,
  type InputRequiredResult,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { randomBytesOf } from '@tollbook/core/id'
import { type Agreement, agreement, type QuoteNote } from '../walletWire.ts'

/* Asks the person in front of the host before a large payment. Neither the model nor a service writes into the question. */

const keyBytes = 32
// A later answer pays nothing: the offer and its price may be others by then.
const consentSeconds = 600
const answer = z.object({ pay: z.boolean() })
const capabilities = z.object({ [CLIENT_CAPABILITIES_META_KEY]: z.object({ elicitation: z.unknown() }).partial() })
const asked = z.object({ url: z.string(), agreement })

/** Questions of one MCP connection. Their state is signed, because the host carries it. */
export interface Consent {
  readonly verify: ReturnType<typeof createRequestStateCodec>['verify']
  /** The offer that the person agreed to for this URL in an earlier round of the call. */
  agreedTo(url: string, context: ServerContext): Agreement | undefined
  ask(url: string, quote: QuoteNote, context: ServerContext): Promise<InputRequiredResult>
}

export function createConsent(): Consent {
  const codec = createRequestStateCodec({ key: randomBytesOf(keyBytes), ttlSeconds: consentSeconds })
  return {
    verify: codec.verify,
    agreedTo(url, { mcpReq }) {
      const state = asked.safeParse(mcpReq.requestState()).data
      const isAgreed = acceptedContent(mcpReq.inputResponses, 'pay', answer)?.pay === true
      return isAgreed && state?.url === url ? state.agreement : undefined
    },
    async ask(url, { usd, mint, mintName, payTo, baseUnits }, context) {
      const message = `Pay ${usd} USD in ${mintName} to ${payTo}, for a request to ${new URL(url).host}?`
      return inputRequired({
        inputRequests: { pay: inputRequired.elicit({ message, requestedSchema: answer }) },
        requestState: await codec.mint({ url, agreement: { mint, payTo, baseUnits, usd } }, context),
      })
    },
  }
}

/** True if the person was asked in this call and did not agree. */
export function wasAsked({ mcpReq }: ServerContext): boolean {
  return mcpReq.inputResponses !== undefined
}

/** True if the host can ask its person. */
export function canAsk(server: McpServer, { mcpReq }: ServerContext): boolean {
  const declared = capabilities.safeParse(mcpReq.envelope).data?.[CLIENT_CAPABILITIES_META_KEY]
  return (declared ?? server.server.getClientCapabilities())?.elicitation !== undefined
}
