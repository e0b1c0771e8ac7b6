// Providers that extensions register: their configuration for pi, their streams, and their logins.

import { call } from "./wire.js";

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

/** Answers a request for an answer of a model: its events are updates of the request. */
export async function stream(provider, message, signal, update) {
  const { model, context, options } = message;
  const messages = provider.config.streamSimple(model, transcript(context), { ...options, signal });
  let last;
  for await (const event of messages) {
    if (event.type === "done" || event.type === "error") last = event;
    else update({ event: withoutPartial(event) });
  }
  if (last) update({ event: { type: last.type, message: last.message ?? last.error } });
  return null;
}

/** A context as versions of the original before and from 0.86 on give it: there the prompt and the tools are its first message. */
function transcript({ systemPrompt, tools, messages }) {
  const hasTools = tools?.length > 0;
  if (!systemPrompt && !hasTools) return { messages, systemPrompt, tools };
  const first = { role: "system", content: systemPrompt ?? "", ...(hasTools ? { toolsAdded: tools } : {}), timestamp: 0 };
  return { messages: [first, ...messages], systemPrompt, tools };
}

/** An event without the message so far, but with what only that has. */
function withoutPartial({ partial, ...event }) {
  if (event.type === "toolcall_start") {
    const { id, name } = partial.content[event.contentIndex];
    return { ...event, id, name };
  }
  if (event.type === "thinking_end") return { ...event, signature: partial?.content[event.contentIndex]?.thinkingSignature };
  if (event.type === "toolcall_end") delete event.toolCall;
  return event;
}

/** Signs in, or refreshes a credential: returns the credential, with the key that it stands for. */
export async function login({ config: { oauth } }, { step, credential }, ctx, signal) {
  const changed =
    step === "refresh" ? await oauth.refreshToken(credential, signal) : await oauth.login(callbacks(ctx, signal));
  return { ...changed, apiKey: oauth.getApiKey(changed) };
}

function callbacks(ctx, signal) {
  const ask = (method, params) => call(ctx, method, params);
  const notify = (message) => ask("ui.notify", { message }).catch(() => {});
  const prompt = async ({ message, placeholder }) =>
    (await ask("ui.input", { title: message, ...(placeholder ? { placeholder } : {}) })) ?? "";
  return {
    signal,
    onAuth({ url, instructions }) {
      if (instructions) notify(instructions);
      ask("ui.open_url", { url }).catch(() => notify(`Open ${url}`));
    },
    onDeviceCode: ({ verificationUri, userCode }) => notify(`Open ${verificationUri} and enter ${userCode}`),
    onPrompt: prompt,
    onManualCodeInput: () => prompt({ message: "Paste the code or the address of the page" }),
    onProgress: notify,
    onSelect: async ({ message, options }) => {
      const label = await ask("ui.select", { title: message, options: options.map((each) => each.label) });
      return options.find((each) => each.label === label)?.id;
    },
  };
}
