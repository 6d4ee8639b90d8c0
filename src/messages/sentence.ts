export const capitalised = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** Adds a full stop unless the text already ends a sentence. */
export const ended = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)
