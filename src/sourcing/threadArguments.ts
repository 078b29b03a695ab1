/**
 * Node arguments for the threads of a Piscina pool. Piscina first loads a module by `require`. If a thread is stopped
 * while Node links an ES module for `require`, the whole process aborts (assertion in CreateRequiredModuleFacade, Node
 * 24). Without that way of loading, Piscina imports the module.
 */
export const threadArguments: readonly string[] = [...process.execArgv, '--no-experimental-require-module']
