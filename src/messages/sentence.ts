/** The product name keeps its case. */
export const capitalize = (text: string): string =>
  text.startsWith('catalog-bot') ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** Adds a period unless the text already ends a sentence. */
export const endWithPeriod = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)
