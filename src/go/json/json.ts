// A JSON value as plain data.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
