// What components of extensions draw: a first version without a screen.

const nothing = () => {};

export const surfaces = {
  custom: async () => undefined,
  setWidget: nothing,
  setFooter: nothing,
  setHeader: nothing,
  setEditorComponent: nothing,
  getEditorComponent: () => undefined,
  addAutocompleteProvider: nothing,
  onTerminalInput: () => nothing,
  theme: () => ({ fg: (_color, text) => text, bg: (_color, text) => text, bold: (text) => text }),
  getAllThemes: () => [],
  getTheme: () => undefined,
  take: nothing,
  render: async () => null,
  dispose: nothing,
};
