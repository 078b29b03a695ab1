/** Independent of the wire format of the order. */
export interface ChatTurn {
  /** Name of the model. Undefined: each server uses its first model. */
  readonly model?: string | undefined
  readonly messages: readonly ChatMessage[]
  /** Maximum output tokens. Undefined: use the limit of the model. */
  readonly tokensMax?: number | undefined
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly stop?: readonly string[] | undefined
  readonly seed?: number | undefined
  /** True: the reply must be a JSON object. */
  readonly isJson?: boolean | undefined
  readonly isStreamed?: boolean | undefined
}

/** A turn with all limits set, in terms of the OpenAI chat protocol, which all chat servers use. */
export interface ChatRequest extends ChatTurn {
  /** Output tokens that the price covers. A longer reply is cut. */
  readonly tokensMax: number
  /**
   * Maximum characters of a reply, for servers that ignore the token limit. Absent: the longest possible text of
   * `tokensMax` tokens.
   */
  readonly charactersMax?: number
  /** Present if the caller's budget limits the tokens, instead of the model's limit. */
  readonly stoppedBy?: 'limit'
}

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

/** Null: the server did not report the count. */
export interface ChatUsage {
  readonly promptTokens: number | null
  readonly completionTokens: number | null
  readonly totalTokens: number | null
}

export interface ChatEnd {
  readonly model: string
  readonly finishReason: string
  /**
   * Counts are null if the server does not report them. They are never estimated here, because a caller could not tell
   * an estimate from the server's count.
   */
  readonly usage: ChatUsage
  /** Present if the reply was cut because the caller's budget was used up. */
  readonly stoppedBy?: 'limit'
}

export interface ChatReply extends ChatEnd {
  readonly reply: string
}

export interface RequestForm {
  readonly model: string
  /**
   * Name of the token limit. OpenAI's reasoning models accept only the newer name `max_completion_tokens`, which some
   * other servers do not support.
   */
  readonly limitName: 'max_tokens' | 'max_completion_tokens'
  readonly isStreamed: boolean
}

export function requestBody(request: ChatRequest, { model, limitName, isStreamed }: RequestForm): string {
  const { messages, tokensMax, temperature, topP, stop, seed, isJson } = request
  return JSON.stringify({
    model: request.model ?? model,
    messages,
    [limitName]: tokensMax,
    // `JSON.stringify` omits undefined fields.
    temperature,
    top_p: topP,
    stop,
    seed,
    ...(isJson === true ? { response_format: { type: 'json_object' } } : {}),
    ...(isStreamed ? { stream: true, stream_options: { include_usage: true } } : {}),
  })
}
