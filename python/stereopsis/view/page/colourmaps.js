// Colour maps as 256 × RGB. The server has the tables, which are those of the command and of Python.
const {tables, choices} = await (await fetch("color-maps.json")).json();

export {choices}; // names of the maps that the user chooses from; the first is the default

export function colours(name) {
  return Uint8Array.from({length: 256 * 3}, (_, i) => parseInt(tables[name].slice(2 * i, 2 * i + 2), 16));
}
