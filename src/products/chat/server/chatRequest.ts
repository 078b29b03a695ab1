/** One turn of a chat, independent of the wire format of the order. */
export interface ChatTurn {
  /** Undefined: the first model of each server. */
  readonly model?: string | undefined
  readonly messages: readonly ChatMessage[]
  /** Undefined: use the limit of the model. */
  readonly tokensMax?: number | undefined
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly stop?: readonly string[] | undefined
  readonly seed?: number | undefined
  /** The reply must be a JSON object. */
  readonly isJson?: boolean | undefined
  readonly isStreamed?: boolean | undefined
}

/** A turn for a language model, in terms of the OpenAI chat protocol. All chat servers use that protocol. */
export interface ChatRequest extends ChatTurn {
  /** Tokens of output that the price covers. A longer reply is cut. */
  readonly tokensMax: number
  /**
   * The longest text of a reply, for servers that ignore the limit of tokens. Absent: the longest text of `tokensMax`
   * tokens.
   */
  readonly charactersMax?: number
  /** Present if the caller's budget, and not the model, limits the tokens. */
  readonly stoppedBy?: 'limit'
}

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

/** Token counts as the server reports them; null if it does not. */
export interface ChatUsage {
  readonly promptTokens: number | null
  readonly completionTokens: number | null
  readonly totalTokens: number | null
}

/** Facts that the server of a model reports with the text of a reply or after it. */
export interface ChatEnd {
  readonly model: string
  readonly finishReason: string
  /** Null if the server does not report it. Our own count would look like the server's. */
  readonly usage: ChatUsage
  /** Present if the reply was cut where the caller's budget ended. */
  readonly stoppedBy?: 'limit'
}

export interface ChatReply extends ChatEnd {
  readonly reply: string
}

export interface RequestForm {
  readonly model: string
  /** OpenAI's reasoning models accept only the new name of the limit. Most other servers accept only the old one. */
  readonly limitName: 'max_tokens' | 'max_completion_tokens'
  readonly isStreamed: boolean
}

/** Returns the body of `POST /chat/completions`. Fields that the caller omitted are omitted. */
export function requestBody(request: ChatRequest, { model, limitName, isStreamed }: RequestForm): string {
  const { messages, tokensMax, temperature, topP, stop, seed, isJson } = request
  return JSON.stringify({
    model: request.model ?? model,
    messages,
    [limitName]: tokensMax,
    // Undefined fields are omitted from JSON.
    temperature,
    top_p: topP,
    stop,
    seed,
    ...(isJson === true ? { response_format: { type: 'json_object' } } : {}),
    ...(isStreamed ? { stream: true, stream_options: { include_usage: true } } : {}),
  })
}
