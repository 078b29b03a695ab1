/**
 * Arguments of Node for the threads of a Piscina pool. Piscina loads a module by `require` first. A thread that is stopped while Node
 * links an ES module for `require` aborts the whole process (assertion in CreateRequiredModuleFacade, Node 24); without that
 * way of loading Piscina imports the module.
 */
export const threadArguments: readonly string[] = [...process.execArgv, '--no-experimental-require-module']
