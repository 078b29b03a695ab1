/** For `AsyncDisposableStack.adopt`, which wants to be told how a part is closed. */
export const close = (part: { close(): Promise<void> }): Promise<void> => part.close()
