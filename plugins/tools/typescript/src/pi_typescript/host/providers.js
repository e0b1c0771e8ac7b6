// Providers that extensions register: their configuration for pi, and their own streams.

/** Returns a provider: `description` is what pi gets, `config` has the functions. */
export function describeProvider(nameOrProvider, config) {
  const id = typeof nameOrProvider === "string" ? nameOrProvider : (nameOrProvider.id ?? nameOrProvider.name);
  const given = config ?? nameOrProvider;
  const { streamSimple, oauth, refreshModels, ...plain } = given;
  const description = { id, config: JSON.parse(JSON.stringify(plain)) };
  if (streamSimple) description.streams = true;
  if (oauth) description.login = { name: oauth.name };
  return { description, config: given };
}
