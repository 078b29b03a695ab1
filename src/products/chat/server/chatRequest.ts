/** One turn of a chat, as an order of any wire format describes it. */
export interface ChatTurn {
  /** Undefined: the first model of each server. */
  readonly model?: string | undefined
  readonly messages: readonly ChatMessage[]
  /** Undefined: the limit of the model. */
  readonly tokensMax?: number | undefined
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly stop?: readonly string[] | undefined
  readonly seed?: number | undefined
  /** The reply must be a JSON object. */
  readonly isJson?: boolean | undefined
  readonly isStreamed?: boolean | undefined
}

/** A turn for a language model, in terms of the OpenAI chat protocol that all its servers share. */
export interface ChatRequest extends ChatTurn {
  /** Tokens of output that the price covers. A reply is cut there. */
  readonly tokensMax: number
}

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

/** Tokens as the server counted them; null where it does not report them. */
export interface ChatUsage {
  readonly promptTokens: number | null
  readonly completionTokens: number | null
  readonly totalTokens: number | null
}

/** Facts that a model's server reports with or after the text of a reply. */
export interface ChatEnd {
  readonly model: string
  readonly finishReason: string
  /** Null if the server does not report it. A number of ours would look like the server's. */
  readonly usage: ChatUsage
}

export interface ChatReply extends ChatEnd {
  readonly reply: string
}

export interface RequestForm {
  readonly model: string
  /** OpenAI's reasoning models know the limit under its new name only, most other servers under the old one only. */
  readonly limitName: 'max_tokens' | 'max_completion_tokens'
  readonly isStreamed: boolean
}

/** The body of `POST /chat/completions`. Fields that the caller left out are left out. */
export function requestBody(request: ChatRequest, { model, limitName, isStreamed }: RequestForm): string {
  const { messages, tokensMax, temperature, topP, stop, seed, isJson } = request
  return JSON.stringify({
    model: request.model ?? model,
    messages,
    [limitName]: tokensMax,
    // JSON leaves out undefined fields.
    temperature,
    top_p: topP,
    stop,
    seed,
    ...(isJson === true ? { response_format: { type: 'json_object' } } : {}),
    ...(isStreamed ? { stream: true, stream_options: { include_usage: true } } : {}),
  })
}
