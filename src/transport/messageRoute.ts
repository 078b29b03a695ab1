import type { Context } from 'koa'
import type { Answer, Dispatch } from '../paywall/answer.ts'
import type { Purpose } from './admission.ts'
import { limitAddressOf, repurpose, takePass } from './admitRequest.ts'
import { openVisit, type PaidVisit, type VisitDeps } from './paidVisit.ts'
import { type BodyDeps, readBody } from './readBody.ts'
import { headerOf } from './requestHead.ts'
import type { Route } from './routes.ts'
import { onceSent, send } from './send.ts'
import { overloaded } from './transportError.ts'

/** All products are sold under one path, by messages in the body of a POST. */
export interface MessageProtocol {
  readonly path: string
  readonly bodyBytesMax: number
  refuse(header: (name: string) => string | undefined): Answer | undefined
  /** Returns an answer with an error if the body is not a valid message. */
  read(body: Buffer): Message | Answer
}

export interface Message {
  readonly purpose: Purpose
  /** For log and metrics, from a closed list. */
  readonly label: string
  serve(carrier: MessageCarrier): Promise<Answer>
}

export interface MessageCarrier {
  header(name: string): string | undefined
  readonly facts: PaidVisit['facts']
  /** Called for each paid answer that the answer to the message contains. */
  onPaid(endpoint: string, dispatch: Dispatch): void
}

/**
 * Returns the route of the protocol. It takes a permit only after reading the body, because the body shows whether it
 * carries a payment.
 */
export function messageRoute(deps: VisitDeps & BodyDeps, protocol: MessageProtocol): Route {
  return { path: protocol.path, methods: ['POST'], serve: (context) => serveMessage(deps, protocol, context) }
}

async function serveMessage(deps: VisitDeps & BodyDeps, protocol: MessageProtocol, context: Context): Promise<void> {
  const pass = takePass(deps, context)
  if (pass === undefined) return
  const { req, res } = context
  const header = (name: string) => headerOf(req, name)
  const refused = protocol.refuse(header)
  if (refused !== undefined) return send(context, refused)
  const address = limitAddressOf(deps, req)
  const body = await readBody(deps, { request: req, response: res, address, bytesMax: protocol.bodyBytesMax })
  if ('status' in body) return send(context, body)
  const message = protocol.read(body)
  if ('status' in message) return send(context, message)
  context.state['route'] = message.label
  repurpose(deps, req, message.purpose)
  const visit = openVisit(deps, { context, pass })
  if (!visit.enter()) return send(context, overloaded())
  try {
    const onPaid = (endpoint: string, dispatch: Dispatch) =>
      onceSent(context, () => {
        dispatch.markSent()
        visit.served(endpoint, dispatch)
      })
    const answer = await message.serve({ header, facts: visit.facts, onPaid })
    context.set(pass.headers())
    send(context, answer)
  } finally {
    visit.leave()
  }
}
