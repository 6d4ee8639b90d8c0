// A text as a sentence: with a capital at its beginning, where it is given one, and an end.

/** Its first letter in capitals, whatever it is. */
export const capitalised = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** With a full stop, unless it has an end already. */
export const ended = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)
