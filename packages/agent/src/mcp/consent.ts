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

/* Asks the person at the host before a large payment. The question contains no free text of the model or of a service. */

const keyBytes = 32
// Time in which the person can agree. A later answer pays nothing, because the offer may have changed.
const consentSeconds = 600
const answer = z.object({ pay: z.boolean() })
const capabilities = z.object({ [CLIENT_CAPABILITIES_META_KEY]: z.object({ elicitation: z.unknown() }).partial() })
const asked = z.object({ url: z.string(), agreement })

/** The host carries the state of a question, so the state is signed. */
export interface Consent {
  readonly verify: ReturnType<typeof createRequestStateCodec>['verify']
  /** Undefined unless the person agreed to an offer for this URL in an earlier request of the call. */
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

/** True if this call contains an answer of the person. An answer that does not agree is a refusal: do not ask again. */
export function wasAsked({ mcpReq }: ServerContext): boolean {
  return mcpReq.inputResponses !== undefined
}

export function canAsk(server: McpServer, { mcpReq }: ServerContext): boolean {
  const declared = capabilities.safeParse(mcpReq.envelope).data?.[CLIENT_CAPABILITIES_META_KEY]
  return (declared ?? server.server.getClientCapabilities())?.elicitation !== undefined
}
