/**
 * Node arguments for the threads of a Piscina pool. Piscina first tries to load a module by `require`. If a thread is
 * stopped while Node links an ES module for `require`, the whole process aborts (assertion in
 * CreateRequiredModuleFacade, Node 24). The added argument disables this, and Piscina then loads the module by
 * `import`.
 */
export const threadArguments: readonly string[] = [...process.execArgv, '--no-experimental-require-module']
