package fakemt5

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

func TestAuthHashes_EqualThePublishedVectors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/auth-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Auth []struct {
			Password, Source string
			PasswordHash     string `json:"password_hash"`
			SrvRand          string `json:"srv_rand"`
			SrvRandAnswer    string `json:"srv_rand_answer"`
			CliRand          string `json:"cli_rand"`
			CliRandAnswer    string `json:"cli_rand_answer"`
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Auth) < 4 {
		t.Fatalf("vectors: %d rows, %v", len(file.Auth), err)
	}
	for _, v := range file.Auth {
		hash := passwordHash(v.Password)
		if got := hex.EncodeToString(hash); got != v.PasswordHash {
			t.Errorf("%s: hash %s, want %s", v.Source, got, v.PasswordHash)
		}
		for _, pair := range [][2]string{{v.SrvRand, v.SrvRandAnswer}, {v.CliRand, v.CliRandAnswer}} {
			random, err := hex.DecodeString(pair[0])
			if err != nil {
				t.Fatal(err)
			}
			if got := randAnswer(hash, random); got != pair[1] {
				t.Errorf("%s: answer to %s is %s, want %s", v.Source, pair[0], got, pair[1])
			}
		}
	}
}

func TestAuth_AnswersTheClientsChallenge(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, nil)
	c := dial(t, s)
	g := c.auth(testManager, testPassword)
	random, _ := hex.DecodeString("0123456789abcdef0123456789abcdef")
	if g.code != 0 || g.fields["cli_rand_answer"] != testHash(testPassword, random) {
		t.Fatalf("auth/answer: %s", g.body)
	}
	if _, wrapped := g.fields["answer"]; wrapped {
		t.Errorf("auth fields belong at top level: %s", g.body)
	}
	if g := c.get("test/access"); g.code != 0 || g.status != 200 {
		t.Errorf("ping after auth: %d %s", g.status, g.body)
	}
}

func TestAuth_RefusesByCode(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, func(c *Config) {
		c.World.Managers = append(c.World.Managers,
			Manager{Login: 1, Password: testPassword, Refuse: 1011}, Manager{Login: 2, Password: testPassword, Refuse: 1012})
	})
	for _, tt := range []struct {
		name     string
		manager  uint64
		password string
		want     int
	}{
		{"wrong password", testManager, "nope", 1001},
		{"unknown manager", 99, testPassword, 1001},
		{"unknown manager, empty password", 99, "", 1001},
		{"no manager configuration", 1, testPassword, 1011},
		{"address not allowed", 2, testPassword, 1012},
	} {
		c := dial(t, s)
		if g := c.auth(tt.manager, tt.password); g.code != tt.want || g.status != 200 {
			t.Errorf("%s: %d %s, want code %d", tt.name, g.status, g.body, tt.want)
		}
		if g := c.get("test/access"); g.status != 403 {
			t.Errorf("%s: a refused client has a session: %s", tt.name, g.body)
		}
	}
}

func TestAuthStart_ChecksItsParameters(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, nil)
	for _, tt := range []struct {
		version, agent, login, kind string
		want                        int
	}{
		{"484", "a", "1007", "manager", 0},
		{"483", "a", "1007", "manager", 1010},
		{"x", "a", "1007", "manager", 3},
		{"484", "", "1007", "manager", 3},
		{"484", "a b", "1007", "manager", 3},
		{"484", "a", "x", "manager", 3},
		{"484", "a", "1007", "admin", 3},
	} {
		g := dial(t, s).get("auth/start", "version", tt.version, "agent", tt.agent, "login", tt.login, "type", tt.kind)
		if g.code != tt.want {
			t.Errorf("%+v: %s", tt, g.body)
		}
	}
}

func startAndHash(t *testing.T, c *wireClient) string {
	t.Helper()
	g := c.get("auth/start", "version", "484", "agent", "a", "login", "1007", "type", "manager")
	return testHash(testPassword, g.random(t))
}

func TestAuthAnswer_HasTenSeconds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		wait time.Duration
		want int
	}{{10 * time.Second, 0}, {10*time.Second + time.Millisecond, 1001}} {
		s, clock, _ := startTest(t, nil)
		c := dial(t, s)
		hash := startAndHash(t, c)
		clock.Advance(tt.wait)
		g := c.get("auth/answer", "srv_rand_answer", strings.ToUpper(hash), "cli_rand", strings.Repeat("0", 32))
		if g.code != tt.want {
			t.Errorf("after %s: %s", tt.wait, g.body)
		}
	}
}

func TestSrvRand_IsGoodForOneAnswerOnItsConnection(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, nil)
	c, other := dial(t, s), dial(t, s)
	hash := startAndHash(t, c)
	if g := other.get("auth/answer", "srv_rand_answer", hash, "cli_rand", strings.Repeat("0", 32)); g.code != 1001 {
		t.Errorf("answer on another connection: %s", g.body)
	}
	if g := c.get("auth/answer", "srv_rand_answer", strings.Repeat("0", 32), "cli_rand", strings.Repeat("0", 32)); g.code != 1001 {
		t.Errorf("wrong answer: %s", g.body)
	}
	if g := c.get("auth/answer", "srv_rand_answer", hash, "cli_rand", strings.Repeat("0", 32)); g.code != 1001 {
		t.Errorf("right answer to a used srv_rand: %s", g.body)
	}
	if a, b := startAndHash(t, c), startAndHash(t, c); a == b {
		t.Error("srv_rand repeats")
	}
}

func TestAuthRefused_CanCarryAnHTTPStatus(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, func(c *Config) { c.World.Wire.AuthRefused = 401 })
	if g := dial(t, s).auth(testManager, "nope"); g.status != 401 || g.code != 1001 {
		t.Errorf("%d %s", g.status, g.body)
	}
}
