/** The name under which a server declares that it runs a call once, and under which a request has its client's id of the call. */
export const onceKey = 'toolwright/once'
/** The most characters of such an id. */
export const longestOnceId = 256
