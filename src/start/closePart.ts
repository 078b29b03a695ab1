/** Closes a part, for `AsyncDisposableStack.adopt`. */
export const close = (part: { close(): Promise<void> }): Promise<void> => part.close()
