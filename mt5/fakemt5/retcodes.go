package fakemt5

// The return codes that the fake gives by itself (mt5-webapi.md §4); a fault may
// answer any other number.
const (
	retDone           = 0
	retError          = 2
	retParams         = 3
	retDisk           = 5
	retNotFound       = 13
	retAccountInvalid = 1001
	retClientOld      = 1010
	retMaxMoney       = 4005
	retNoMoney        = 10019
)

// retText is the text after a code. Clients must not read it.
func retText(code int) string {
	switch code {
	case 0:
		return "Done"
	case 1:
		return "OK, no result"
	case 2:
		return "Common error"
	case 3:
		return "Invalid parameters"
	case 4:
		return "Invalid data"
	case 5:
		return "Disk error"
	case 7:
		return "Network error"
	case 8:
		return "Not enough permissions"
	case 9:
		return "Operation timeout"
	case 10:
		return "No connection"
	case 12:
		return "Too frequent requests"
	case 13:
		return "Not found"
	case 1001:
		return "Invalid account"
	case 1010:
		return "Old client version"
	case 1011:
		return "Manager has no configuration"
	case 1012:
		return "Manager address is blocked"
	case 4005:
		return "Maximum amount of money reached"
	case 10006:
		return "Request rejected"
	case 10012:
		return "Request timed out"
	case 10019:
		return "Not enough money"
	}
	return "Error"
}
